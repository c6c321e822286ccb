import { Logger } from '@nestjs/common';
import type { SocketConfig } from 'baileys';

/** The interface of Baileys' logger. */
export type BaileysLogger = SocketConfig['logger'];

/**
 * Returns a logger for Baileys that passes on the messages of warnings and errors at the level `debug`. It drops logged objects,
 * because they contain keys, codes, numbers and texts.
 */
export function quietLogger(log = new Logger('Baileys')): BaileysLogger {
  const drop = () => undefined;
  const note = (object: unknown, message?: string) => log.debug(withoutSecrets(message ?? object));
  const logger: BaileysLogger = {
    level: 'warn',
    child: () => logger,
    trace: drop,
    debug: drop,
    info: drop,
    warn: note,
    error: note,
  };
  return logger;
}

/** Removes possible numbers, keys and ids from a message: five or more digits, and words of 20 or more characters. */
function withoutSecrets(message: unknown): string {
  if (typeof message !== 'string') return 'something went wrong';
  return message.replace(/[^\s'"()]{20,}/g, '…').replace(/\d{5,}/g, '…');
}

/**
 * The prefixes of messages that Baileys' Signal library writes to `console` in normal operation. Some are followed by a
 * session with its private keys, and the library has no option to disable them.
 */
const SUPPRESSED_PREFIXES = [
  'Closing session:',
  'Opening session:',
  'Removing old closed session:',
  'Session already closed',
  'Session already open',
  'Closing open session in favor of incoming prekey bundle',
  'Decrypted message with closed session.',
  'Failed to decrypt message with any known session...',
  'Session error:',
];

const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** Suppresses these messages on the console until the returned function is called. All other messages pass unchanged. */
export function guardConsole(): () => void {
  let guarding = true;
  const restores = METHODS.map((method) => {
    const original = console[method];
    const guarded = (...args: unknown[]) => {
      if (!guarding || !isSuppressed(args)) original.apply(console, args);
    };
    console[method] = guarded;
    return () => {
      // Other code may have replaced our function meanwhile.
      if (console[method] === guarded) console[method] = original;
    };
  });
  return () => {
    guarding = false;
    for (const restore of restores) restore();
  };
}

function isSuppressed([first, ...rest]: readonly unknown[]): boolean {
  if (typeof first === 'string' && SUPPRESSED_PREFIXES.some((prefix) => first.startsWith(prefix))) return true;
  return rest.some((value) => typeof value === 'object' && value?.constructor?.name === 'SessionEntry');
}
