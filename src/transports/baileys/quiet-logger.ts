import { Logger } from '@nestjs/common';
import type { SocketConfig } from 'baileys';

/** Baileys asks for a logger of this shape. */
export type BaileysLogger = SocketConfig['logger'];

/**
 * A logger for Baileys that lets through what went wrong, at the level `debug`, and nothing of what it was about: the
 * objects it logs hold keys, codes, numbers and texts.
 */
export function quietLogger(log = new Logger('Baileys')): BaileysLogger {
  const drop = () => undefined;
  const note = (about: unknown, message?: string) => log.debug(withoutSecrets(message ?? about));
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

/** A sentence without what could be a number, a key or an id: five digits in a row, or a word of 20 characters. */
function withoutSecrets(message: unknown): string {
  if (typeof message !== 'string') return 'something went wrong';
  return message.replace(/[^\s'"()]{20,}/g, '…').replace(/\d{5,}/g, '…');
}

/**
 * How the remarks begin that Baileys' Signal library makes on `console` in ordinary traffic. Some have a whole session
 * behind them, its private keys included, and there is no option against it.
 */
const REMARKS = [
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

/** Keeps these remarks off the console until the answer is called; everything else passes as it is. */
export function guardConsole(): () => void {
  let guarding = true;
  const restores = METHODS.map((method) => {
    const original = console[method];
    const guarded = (...args: unknown[]) => {
      if (!guarding || !isRemark(args)) original.apply(console, args);
    };
    console[method] = guarded;
    return () => {
      // Somebody may have put theirs over ours.
      if (console[method] === guarded) console[method] = original;
    };
  });
  return () => {
    guarding = false;
    for (const restore of restores) restore();
  };
}

function isRemark([first, ...rest]: readonly unknown[]): boolean {
  if (typeof first === 'string' && REMARKS.some((remark) => first.startsWith(remark))) return true;
  return rest.some((value) => typeof value === 'object' && value?.constructor?.name === 'SessionEntry');
}
