import { loadPeer } from '../../common/load-peer.js';

/** The module of the optional peer dependency. */
export type Baileys = typeof import('baileys');

/**
 * Loads Baileys. It is loaded only at the start of a transport. The package is an optional peer dependency, and its Signal
 * library has the licence GPL-3.0, so hosts without this channel need neither.
 *
 * @throws MessagingOptionsError with the command that installs it
 */
export function loadBaileys(load: () => Promise<Baileys> = () => import('baileys')): Promise<Baileys> {
  return loadPeer('BaileysMsgappTransport', 'baileys', load, '--save-exact baileys@7.0.0-rc14');
}
