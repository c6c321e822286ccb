import type { INestApplicationContext } from '@nestjs/common';
import { AccountService, type IssueKeyCallOptions } from '../accounts/account-service.js';
import type { KeyScope } from '../accounts/keys/permissions.js';
import { SignatureService } from '../accounts/signatures/signature-service.js';
import type { LedgerProgress } from '../billing/ledger-entry.js';
import { LedgerService } from '../billing/ledger-service.js';
import { momentOf } from '../common/listing/list-query.js';
import { escapeControls } from '../common/log.js';
import { EventLog } from '../events/event-log.js';
import { ErasureService } from '../outbox/retention/erasure-service.js';
import { OptOutService } from '../sms/opt-out/opt-out-service.js';
import { StartedStorage } from '../storage/messaging-storage.js';
import { type OperatorOptions, UsageError } from './words.js';

interface Command {
  readonly usage: string;
  /** True: the command changes nothing, not even the schema. */
  readonly readOnly?: boolean;
  /** Runs the command and returns the exit code. */
  run(app: INestApplicationContext, args: readonly string[], options: OperatorOptions): Promise<number>;
}

const service = {
  accounts: (app: INestApplicationContext) => app.get(AccountService, { strict: false }),
  ledger: (app: INestApplicationContext) => app.get(LedgerService, { strict: false }),
  signatures: (app: INestApplicationContext) => app.get(SignatureService, { strict: false }),
  erasure: (app: INestApplicationContext) => app.get(ErasureService, { strict: false }),
  optOuts: (app: INestApplicationContext) => app.get(OptOutService, { strict: false }),
};

/** Every command by its name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'account:create': {
    usage: 'account:create <name>',
    run: async (app, args) => print(await service.accounts(app).createAccount({ name: word(args, 0, 'name') })),
  },
  'account:list': {
    usage: 'account:list (the newest thousand)',
    run: async (app) => print(...(await service.accounts(app).listAccounts({ limit: 1000 })).items),
  },
  'account:low': {
    usage: 'account:low <account> <units, or none> (the event balance.low comes if fewer are left)',
    run: async (app, args) => {
      const threshold = args[1] === 'none' ? undefined : units(args);
      await service.accounts(app).setLowBalance(word(args, 0, 'account'), threshold);
      return print('set');
    },
  },
  'key:issue': {
    usage:
      'key:issue <account> [--name <text>] [--scopes <one,another>] [--cidrs <one,another>] [--daily-units <units>] [--per-minute <requests>] [--recipients <one,another>] [--confirm-above <units>] [--expires <day, or time with its zone>]',
    run: async (app, args, options) =>
      print(await service.accounts(app).issueKey(word(args, 0, 'account'), keyOptions(options))),
  },
  'key:list': {
    usage: 'key:list <account> (the newest thousand)',
    run: async (app, args) =>
      print(...(await service.accounts(app).listKeys(word(args, 0, 'account'), { limit: 1000 })).items),
  },
  'key:rotate': {
    usage: 'key:rotate <key id> [--grace <seconds, default 86400>]',
    run: async (app, args, { grace = '86400' }) =>
      print(
        await service.accounts(app).rotateKey(word(args, 0, 'key id'), { graceMs: integer(grace, 'grace') * 1000 }),
      ),
  },
  'key:revoke': {
    usage: 'key:revoke <key id>',
    run: async (app, args) => {
      await service.accounts(app).revokeKey(word(args, 0, 'key id'));
      return print('revoked');
    },
  },
  topup: {
    usage: 'topup <account> <units> [--reference <once>] [--note <text>]',
    run: async (app, args, options) =>
      print({ balance: await service.ledger(app).topUp(word(args, 0, 'account'), units(args), posting(options)) }),
  },
  adjust: {
    usage: 'adjust <account> <units, may be negative: put -- before it> [--reference <once>] [--note <text>]',
    run: async (app, args, options) =>
      print({ balance: await service.ledger(app).adjust(word(args, 0, 'account'), units(args), posting(options)) }),
  },
  balance: {
    usage: 'balance <account>',
    run: async (app, args) => print({ balance: await service.ledger(app).balance(word(args, 0, 'account')) }),
  },
  ledger: {
    usage: 'ledger <account>',
    run: async (app, args) => print(...(await service.ledger(app).entries(word(args, 0, 'account'))).items),
  },
  'ledger:check': {
    usage: 'ledger:check [--after <place that an earlier check printed>]',
    run: async (app, _args, { after }) => {
      const faults = await service.ledger(app).checkLedger({ after, onProgress: progress() });
      print(...(faults.length === 0 ? ['The ledger is correct.'] : faults));
      return faults.length === 0 ? 0 : 1;
    },
  },
  doctor: {
    usage: 'doctor (checks the database and its settings)',
    readOnly: true,
    run: async (app) => {
      const findings = await app.get(StartedStorage, { strict: false }).examine();
      const todos = findings.filter(({ todo }) => todo);
      print(...findings.map(({ text, todo }) => (todo ? `TO DO: ${text}` : text)));
      print(todos.length === 0 ? 'There is nothing to do.' : `There is something to do: ${todos.length}.`);
      return todos.length === 0 ? 0 : 1;
    },
  },
  restored: {
    usage: 'restored (run it after a restore, or after a failover that lost data, before the hosts start)',
    run: async (app) => print(`${await moveLogsOn(app)} event logs continue with new numbers and new ids.`, ...CHECKS),
  },
  'signature:register': {
    usage: 'signature:register <account> <name>',
    run: async (app, args) =>
      print(await service.signatures(app).register(word(args, 0, 'account'), word(args, 1, 'name'))),
  },
  'signature:verify': {
    usage: 'signature:verify <account> <name>',
    run: async (app, args) =>
      print(await service.signatures(app).verify(word(args, 0, 'account'), word(args, 1, 'name'))),
  },
  'signature:reject': {
    usage: 'signature:reject <account> <name> [--note <reason>]',
    run: async (app, args, { note }) =>
      print(await service.signatures(app).reject(word(args, 0, 'account'), word(args, 1, 'name'), note)),
  },
  'signature:list': {
    usage: 'signature:list <account> (the first thousand)',
    run: async (app, args) => print(...(await service.signatures(app).list(word(args, 0, 'account')))),
  },
  erase: {
    usage: 'erase <number or contact> (everything that is stored about it; takes a while)',
    run: async (app, args) => print(await service.erasure(app).erase(word(args, 0, 'number'))),
  },
  'optout:add': {
    usage: 'optout:add <account, or all> <signature> <number …>',
    run: async (app, args) => print({ added: await service.optOuts(app).add(scope(args), args.slice(2)) }),
  },
  'optout:remove': {
    usage: 'optout:remove <account, or all> <signature> <number …>',
    run: async (app, args) => print({ removed: await service.optOuts(app).remove(scope(args), args.slice(2)) }),
  },
  'optout:list': {
    usage: 'optout:list <account, or all> (the newest thousand)',
    run: async (app, args) => print(...(await service.optOuts(app).list({ ...accountOf(args), limit: 1000 })).items),
  },
};

/**
 * The usage of all commands, one line each.
 * @param program the words that are typed before a command
 */
export function usage(program: string): string {
  const lines = Object.values(COMMANDS).map((command) => `  ${program} ${command.usage}`);
  return `Works on the database of DATABASE_URL:\n\n${lines.join('\n')}\n`;
}

function word(args: readonly string[], index: number, name: string): string {
  const value = args[index];
  if (value === undefined) throw new UsageError(`<${name}> is missing.`);
  return value;
}

/** `all` means all accounts. Default signatures are valid for all of them too. */
function accountOf(args: readonly string[]): { accountId?: string } {
  const account = word(args, 0, 'account, or all');
  return account === 'all' ? {} : { accountId: account };
}

function scope(args: readonly string[]): { accountId?: string; signature: string } {
  word(args, 2, 'number');
  return { ...accountOf(args), signature: word(args, 1, 'signature') };
}

function units(args: readonly string[]): number {
  return integer(word(args, 1, 'units'), 'units');
}

function integer(value: string, name: string): number {
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw new UsageError(`<${name}> must be an integer; it is "${value}".`);
}

function posting({ reference, note }: OperatorOptions): { reference?: string; note?: string } {
  return { ...(reference === undefined ? {} : { reference }), ...(note === undefined ? {} : { note }) };
}

/**
 * Reads the options of a new key. An option that is left out does not restrict the key. `AccountService` checks the
 * values.
 */
function keyOptions({ name, scopes, cidrs, recipients, expires, ...limits }: OperatorOptions): IssueKeyCallOptions {
  const { 'daily-units': dailyUnits, 'per-minute': perMinute, 'confirm-above': confirmAbove } = limits;
  return {
    name,
    // `AccountService` refuses a word that is not a scope.
    scopes: scopes?.split(',') as KeyScope[] | undefined,
    cidrs: cidrs?.split(','),
    expiresAt: momentOf('expires', expires),
    ...(dailyUnits === undefined ? {} : { dailyUnits: integer(dailyUnits, 'daily-units') }),
    recipients: recipients?.split(','),
    ...(perMinute === undefined ? {} : { perMinute: integer(perMinute, 'per-minute') }),
    ...(confirmAbove === undefined ? {} : { confirmAbove: integer(confirmAbove, 'confirm-above') }),
  };
}

/** The steps after a restore that no command can do (docs/operations.md#after-a-restore). */
const CHECKS = [
  'Run ledger:check, and compare balances with what your customers have paid since the backup.',
  'The sends since the backup are no longer known: they are not charged, and their Idempotency-Keys can send again.',
  'Phones that wrote STOP since the backup are not opted out: add them again with optout:add.',
  'Keys, users and webhooks that were revoked or removed since the backup are valid again.',
  'If a linked number of a messaging app fails, link it again.',
];

/** Begins new epochs of all event logs. @returns the number of logs */
async function moveLogsOn(app: INestApplicationContext): Promise<number> {
  const log = app.get(EventLog, { strict: false });
  let moved = 0;
  for (
    let ids = await log.moveOn('', LOGS_AT_ONCE);
    ids.length > 0;
    ids = await log.moveOn(ids.at(-1) ?? '', LOGS_AT_ONCE)
  )
    moved += ids.length;
  return moved;
}

const LOGS_AT_ONCE = 500;

/** Prints the progress of a check to the standard error, every 100 000 rows. */
function progress(): (progress: LedgerProgress) => void {
  let reported = 0;
  return ({ part, checked, next }) => {
    if (checked < reported) reported = 0;
    if (checked < reported + REPORT_EVERY) return;
    reported = checked;
    console.error(`${part}: ${checked} checked; continue here with --after ${next}`);
  };
}

const REPORT_EVERY = 100_000;

function print(...lines: readonly unknown[]): number {
  // A name may contain escape codes for a terminal. JSON leaves some of them as they are, so they are escaped here.
  for (const line of lines) console.log(typeof line === 'string' ? line : escapeControls(JSON.stringify(line)));
  return 0;
}
