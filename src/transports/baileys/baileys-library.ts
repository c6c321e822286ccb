import { MessagingOptionsError } from '../../common/errors.js';

/** The module of the optional peer dependency. */
export type Baileys = typeof import('baileys');

/**
 * Loads Baileys, on the start of a transport only: the package is an optional peer dependency, and its Signal library
 * has the GPL-3.0, so hosts without this channel need neither.
 *
 * @throws MessagingOptionsError with the command that installs it
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
    // Of import, and of require in the CommonJS form.
    /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code)) &&
    /'baileys'/.test(error.message)
  );
}
