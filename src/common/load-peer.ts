import { MessagingOptionsError } from './errors.js';

/**
 * Imports an optional peer dependency.
 *
 * @param wanting what needs it, for the error
 * @param install the arguments of the `npm install` that installs it
 * @throws MessagingOptionsError that says what to install, if the package is missing
 */
export async function loadPeer<T>(
  wanting: string,
  name: string,
  load: () => Promise<T>,
  install: string = name,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new MessagingOptionsError(
      `${wanting} needs the package ${name}, which is not installed: npm install ${install}.`,
    );
  }
}

function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    // `import` throws the code with ERR_, and `require` in the CommonJS form throws it without.
    /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code)) &&
    error.message.includes(`'${name}'`)
  );
}
