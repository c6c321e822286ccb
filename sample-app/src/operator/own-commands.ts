import { parseArgs } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import { MessagingError } from 'nestjs-messaging';
import { type Config, ConfigError } from '../config/config.js';
import { serviceSecrets } from '../config/secrets.js';
import { baseUrl } from '../demo/base-url.js';
import { linkTo } from '../demo/dashboard-link.js';
import { makeDemo } from '../demo/traffic/demo.js';

/** The settings and services that a command works with. */
interface Setting {
  readonly config: Config;
  /** Opens the services on the database, without routes and deliveries. */
  open(): Promise<INestApplicationContext>;
}

/** A command of the sample app itself, in addition to those of the package. */
export interface OwnCommand {
  readonly usage: string;
  /** @throws ConfigError for arguments that it does not know */
  run(setting: Setting, words: readonly string[]): Promise<void>;
}

const ROLES = ['viewer', 'sender', 'developer', 'admin', 'support', 'finance', 'operator'] as const;
const OF_OPERATOR: readonly string[] = ['support', 'finance', 'operator'];

/** The commands by their names. */
export const OWN_COMMANDS: Readonly<Record<string, OwnCommand>> = {
  link: {
    usage: `link [--account <id, default demo>] [--role <${ROLES.join('|')}, default admin>] (to the dashboard, once)`,
    run: async ({ config, open }, words) => {
      const { account, role } = linkWords(words);
      if (serviceSecrets(config).managementSecret === undefined) {
        throw new ConfigError('There is no dashboard without MANAGEMENT_SECRET: at least 32 random characters.');
      }
      const app = await open();
      try {
        const draft = OF_OPERATOR.includes(role) ? { role } : { account, role };
        console.log(await linkTo(app, baseUrl(config.host, config.port), draft).catch(withoutAccount(account)));
      } finally {
        await app.close();
      }
    },
  },
  demo: {
    usage: 'demo (a second account and some days of traffic, on the sandbox; while the sample app is stopped)',
    run: ({ config }, words) => {
      if (words.length > 0) throw new ConfigError(`demo does not know what to do with "${words[0]}".`);
      return makeDemo(config, (line) => console.log(line));
    },
  },
};

function withoutAccount(account: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MessagingError) || error.code !== 'error.account_not_found') throw error;
    throw new ConfigError(`There is no account ${account}, or it is closed: "npm run operator -- account:list".`);
  };
}

function linkWords(words: readonly string[]): { readonly account: string; readonly role: (typeof ROLES)[number] } {
  const options = { account: { type: 'string' }, role: { type: 'string' } } as const;
  try {
    const { account = 'demo', role = 'admin' } = parseArgs({ args: [...words], options }).values;
    const known = ROLES.find((each) => each === role);
    if (known) return { account, role: known };
    throw new ConfigError(`--role must be one of ${ROLES.join(', ')}; it is "${role}".`);
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error)) throw error;
    throw new ConfigError(`link is written: ${OWN_COMMANDS.link?.usage}`);
  }
}
