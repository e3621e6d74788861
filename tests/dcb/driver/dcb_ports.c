// SPDX-License-Identifier: GPL-2.0
// Copyright: Drawbridge contributors
/*
 * Network devices without hardware that keep what the kernel's DCB interface gives them, for tests.
 *
 * Linux gives some of its symbols to modules under the GPL only, so this file is under the kernel's own licence.
 * Nothing else of Drawbridge is built with it, and no release has it.
 *
 * Drivers differ in what they do with a second priority for a DSCP, in the number of traffic classes, and in what they
 * say of DCBX. Each device is like one of them, by its source: rail0 like mlx5, rail1 and rail3 like ice, rail2 like
 * bnxt. rail3 is a port of a card with so many ports that each has four classes.
 *
 * With its first entry of a DSCP, ice gives each priority the class of its own number and all of the link to class 0.
 * From then on it ignores other classes of priorities, until the last entry goes. Then all priorities are in class 0, and
 * PFC is off. While the firmware's LLDP agent runs, it takes no setting but the flag that stops the agent. Each change
 * takes its link down.
 */
#include <linux/dcbnl.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <net/dcbnl.h>

static unsigned int writes;
module_param(writes, uint, 0444);
MODULE_PARM_DESC(writes, "Requests that set something");

static bool refuse, lie;
module_param(refuse, bool, 0644);
MODULE_PARM_DESC(refuse, "Refuse changes of PFC");
module_param(lie, bool, 0644);
MODULE_PARM_DESC(lie, "Take changes of PFC and do not make them");

enum second { REPLACES, REFUSED, BESIDE };

struct port {
	enum second second;
	u8 dcbx;
	u8 mapped;	/* DSCPs with an entry */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
};

static const struct {
	const char *name;
	enum second second;
	u8 classes, dcbx;
} kinds[] = {
	{ "rail0", REPLACES, 8, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE },
	{ "rail1", REFUSED, 8, DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE },
	{ "rail2", BESIDE, 4, DCB_CAP_DCBX_VER_IEEE },
	{ "rail3", REFUSED, 4, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE },
};

static struct net_device *devices[ARRAY_SIZE(kinds)];

static struct platform_device *parent;

static bool like_ice(const struct port *port)
{
	return port->second == REFUSED;
}

static void bounce(struct net_device *dev)
{
	netif_carrier_off(dev);
	netif_carrier_on(dev);
}

/* ice without an entry of a DSCP: one class for all priorities, and no PFC */
static void one_class(struct port *port)
{
	u8 classes = port->ets.ets_cap;

	port->ets = (struct ieee_ets){ .ets_cap = classes, .tc_tx_bw = { 100 }, .tc_tsa = { IEEE_8021QAZ_TSA_ETS } };
	port->pfc.pfc_en = 0;
}

/* ice with its first entry */
static void own_classes(struct port *port)
{
	int at;

	for (at = 0; at < port->ets.ets_cap; at++) {
		port->ets.prio_tc[at] = at;
		port->ets.tc_tx_bw[at] = at ? 0 : 100;
		port->ets.tc_tsa[at] = IEEE_8021QAZ_TSA_ETS;
	}
}

/* The shares of all classes that ice counts: those from 0 without a gap. */
static int set_ice_ets(struct net_device *dev, const struct ieee_ets *ets)
{
	struct port *port = netdev_priv(dev);
	struct ieee_ets next = port->ets;
	u8 used = 0, sum = 0;
	int at, classes;

	if (port->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return -EINVAL;
	memcpy(next.tc_tx_bw, ets->tc_tx_bw, sizeof(next.tc_tx_bw));
	memcpy(next.tc_tsa, ets->tc_tsa, sizeof(next.tc_tsa));
	if (!port->mapped)
		memcpy(next.prio_tc, ets->prio_tc, sizeof(next.prio_tc));
	for (at = 0; at < IEEE_8021QAZ_MAX_TCS; at++)
		used |= BIT(next.prio_tc[at]);
	classes = ffz(used);
	if (used >> classes)
		classes = 1;
	for (at = 0; at < classes; at++)
		sum += next.tc_tx_bw[at];
	if (classes == 1 || !sum)
		next.tc_tx_bw[0] = 100;
	else if (sum != 100)
		return -EINVAL;
	if (memcmp(&next, &port->ets, sizeof(next))) {
		port->ets = next;
		if (used & (used + 1))
			one_class(port);
		bounce(dev);
	}
	return 0;
}

static int get_ets(struct net_device *dev, struct ieee_ets *ets)
{
	*ets = ((struct port *)netdev_priv(dev))->ets;
	return 0;
}

static int set_ets(struct net_device *dev, struct ieee_ets *ets)
{
	struct port *port = netdev_priv(dev);
	u8 classes = port->ets.ets_cap;
	int at;

	writes++;
	if (like_ice(port))
		return set_ice_ets(dev, ets);
	for (at = 0; at < IEEE_8021QAZ_MAX_TCS; at++)
		if (ets->prio_tc[at] >= classes)
			return -EINVAL;
	port->ets = *ets;
	port->ets.ets_cap = classes;
	return 0;
}

static int get_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	*pfc = ((struct port *)netdev_priv(dev))->pfc;
	return 0;
}

static int set_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct port *port = netdev_priv(dev);
	bool bounces = pfc->pfc_en != port->pfc.pfc_en;

	writes++;
	if (refuse || port->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return -EINVAL;
	if (lie)
		return 0;
	if (like_ice(port))
		port->pfc.pfc_en = pfc->pfc_en;
	else
		port->pfc = *pfc;
	if (bounces)
		bounce(dev);
	return 0;
}

static int del_app(struct net_device *dev, struct dcb_app *app)
{
	struct port *port = netdev_priv(dev);
	int failed = dcb_ieee_delapp(dev, app);

	writes++;
	if (!failed && like_ice(port)) {
		if (!--port->mapped)
			one_class(port);
		bounce(dev);
	}
	return failed;
}

static int set_app(struct net_device *dev, struct dcb_app *app)
{
	struct port *port = netdev_priv(dev);
	u8 old = dcb_ieee_getapp_mask(dev, app);
	int failed;

	writes++;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol > 63)
		return -EINVAL;
	if (like_ice(port) && (old || port->dcbx & DCB_CAP_DCBX_LLD_MANAGED || app->priority >= port->ets.ets_cap))
		return -EINVAL;
	if (old && port->second == REPLACES) {
		struct dcb_app gone = { .selector = app->selector, .protocol = app->protocol, .priority = ilog2(old) };

		dcb_ieee_delapp(dev, &gone);
	}
	failed = dcb_ieee_setapp(dev, app);
	if (!failed && like_ice(port)) {
		if (!port->mapped++)
			own_classes(port);
		bounce(dev);
	}
	return failed;
}

static u8 get_dcbx(struct net_device *dev)
{
	return ((struct port *)netdev_priv(dev))->dcbx;
}

/* the answer is 0 or 1, and no error number */
static u8 set_dcbx(struct net_device *dev, u8 mode)
{
	struct port *port = netdev_priv(dev);

	writes++;
	if (mode & DCB_CAP_DCBX_LLD_MANAGED || !(mode & DCB_CAP_DCBX_VER_IEEE))
		return 1;
	if (like_ice(port) && (port->dcbx & DCB_CAP_DCBX_LLD_MANAGED || !(mode & DCB_CAP_DCBX_HOST) || mode == port->dcbx))
		return 1;
	port->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops dcb = {
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.ieee_setapp = set_app,
	.ieee_delapp = del_app,
	.getdcbx = get_dcbx,
	.setdcbx = set_dcbx,
};

/* ethtool --show-priv-flags: ice has a flag for the LLDP agent of its firmware */
static int count_strings(struct net_device *dev, int kind)
{
	return kind == ETH_SS_PRIV_FLAGS ? 1 : -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 kind, u8 *names)
{
	if (kind == ETH_SS_PRIV_FLAGS)
		strscpy(names, "fw-lldp-agent", ETH_GSTRING_LEN);
}

static u32 get_flags(struct net_device *dev)
{
	return !!(((struct port *)netdev_priv(dev))->dcbx & DCB_CAP_DCBX_LLD_MANAGED);
}

static int set_flags(struct net_device *dev, u32 flags)
{
	struct port *port = netdev_priv(dev);

	if (flags == get_flags(dev))
		return 0;
	if (flags && port->mapped)
		return -EOPNOTSUPP;
	writes++;
	port->dcbx = DCB_CAP_DCBX_VER_IEEE | (flags ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
	one_class(port);
	bounce(dev);
	return 0;
}

static const struct ethtool_ops flag = {
	.get_sset_count = count_strings,
	.get_strings = get_strings,
	.get_priv_flags = get_flags,
	.set_priv_flags = set_flags,
};

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops net = { .ndo_start_xmit = drop };

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &net;
	dev->dcbnl_ops = &dcb;
	dev->needs_free_netdev = true;
}

/* a driver of this name in sysfs, for the ports that are like ice */
static struct platform_driver ice = { .driver = { .name = "ice" } };

static void unmake(void)
{
	int at;

	for (at = 0; at < ARRAY_SIZE(kinds) && devices[at]; at++)
		unregister_netdev(devices[at]);
	if (!IS_ERR_OR_NULL(parent))
		platform_device_unregister(parent);
	platform_driver_unregister(&ice);
}

/* Traffic classes begin as those of mlx5: priority 0 is in class 1, and 1 in class 0. ice begins with one. */
static void begin(struct port *port, int kind)
{
	int at;

	port->second = kinds[kind].second;
	port->dcbx = kinds[kind].dcbx;
	port->pfc.pfc_cap = port->ets.ets_cap = kinds[kind].classes;
	port->pfc.delay = 7;
	for (at = 0; at < IEEE_8021QAZ_MAX_TCS; at++) {
		port->ets.prio_tc[at] = (at < 2 ? 1 - at : at) % kinds[kind].classes;
		port->ets.tc_tsa[at] = IEEE_8021QAZ_TSA_VENDOR;
	}
	if (like_ice(port))
		one_class(port);
}

static struct net_device *made(int kind)
{
	struct net_device *dev = alloc_netdev(sizeof(struct port), kinds[kind].name, NET_NAME_USER, setup);

	if (!dev)
		return NULL;
	begin(netdev_priv(dev), kind);
	if (kinds[kind].second == REFUSED) {
		SET_NETDEV_DEV(dev, &parent->dev);
		dev->ethtool_ops = &flag;
	}
	if (!register_netdev(dev))
		return dev;
	free_netdev(dev);
	return NULL;
}

static int __init make(void)
{
	int at, failed = platform_driver_register(&ice);

	if (failed)
		return failed;
	parent = platform_device_register_simple("ice", PLATFORM_DEVID_NONE, NULL, 0);
	for (at = 0; at < ARRAY_SIZE(kinds); at++) {
		devices[at] = IS_ERR(parent) ? NULL : made(at);
		if (!devices[at]) {
			unmake();
			return -ENODEV;
		}
	}
	return 0;
}

module_init(make);
module_exit(unmake);
MODULE_DESCRIPTION("Network devices for tests of DCB");
MODULE_LICENSE("GPL");
