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
