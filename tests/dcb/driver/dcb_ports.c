// SPDX-License-Identifier: GPL-2.0
// Copyright: Drawbridge contributors
/*
 * Network devices without hardware that keep what the kernel's DCB interface gives them, for tests.
 *
 * Linux gives some of its symbols to modules under the GPL only, so this file is under the kernel's own licence.
 * Nothing else of Drawbridge is built with it, and no release has it.
 *
 * Drivers differ in what they do with a second priority for a DSCP, in the number of traffic classes, and in what they
 * say of DCBX. Each device is like one of them, by its source: rail0 like mlx5, rail1 like ice, rail2 like bnxt.
 */
#include <linux/dcbnl.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
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
	struct ieee_ets ets;
	struct ieee_pfc pfc;
};

static const struct {
	const char *name;
	enum second second;
	u8 classes, dcbx;
} kinds[] = {
	{ "rail0", REPLACES, 8, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE },
	{ "rail1", REFUSED, 4, DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE },
	{ "rail2", BESIDE, 8, DCB_CAP_DCBX_VER_IEEE },
};

static struct net_device *devices[ARRAY_SIZE(kinds)];

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
	if (refuse)
		return -EINVAL;
	if (lie)
		return 0;
	port->pfc = *pfc;
	if (bounces) {
		netif_carrier_off(dev);
		netif_carrier_on(dev);
	}
	return 0;
}

static int del_app(struct net_device *dev, struct dcb_app *app)
{
	writes++;
	return dcb_ieee_delapp(dev, app);
}

static int set_app(struct net_device *dev, struct dcb_app *app)
{
	struct port *port = netdev_priv(dev);
	u8 old = dcb_ieee_getapp_mask(dev, app);

	writes++;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol > 63)
		return -EINVAL;
	if (old && port->second == REFUSED)
		return -EINVAL;
	if (old && port->second == REPLACES) {
		struct dcb_app gone = { .selector = app->selector, .protocol = app->protocol, .priority = ilog2(old) };

		dcb_ieee_delapp(dev, &gone);
	}
	return dcb_ieee_setapp(dev, app);
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

static void unmake(void)
{
	int at;

	for (at = 0; at < ARRAY_SIZE(kinds) && devices[at]; at++)
		unregister_netdev(devices[at]);
}

/* Traffic classes begin as those of mlx5: priority 0 is in class 1, and 1 in class 0. */
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
}

static struct net_device *made(int kind)
{
	struct net_device *dev = alloc_netdev(sizeof(struct port), kinds[kind].name, NET_NAME_USER, setup);

	if (!dev)
		return NULL;
	begin(netdev_priv(dev), kind);
	if (!register_netdev(dev))
		return dev;
	free_netdev(dev);
	return NULL;
}

static int __init make(void)
{
	int at;

	for (at = 0; at < ARRAY_SIZE(kinds); at++) {
		devices[at] = made(at);
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
