import { MessagingOptionsError } from '../../common/errors.js';

/** The optional peer, once it is loaded. */
export type Baileys = typeof import('baileys');

/**
 * Loads Baileys. Only a started transport does: the package is an optional peer, and its Signal library is under the
 * GPL-3.0, so who does not use this channel needs to have neither.
 *
 * @throws MessagingOptionsError saying what to install
 */
export async function loadBaileys(load: () => Promise<Baileys> = () => import('baileys')): Promise<Baileys> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new MessagingOptionsError(
      'BaileysMsgappTransport needs the package baileys, which is not installed: npm install --save-exact baileys@7.0.0-rc14.',
    );
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    /'baileys'/.test(error.message)
  );
}
