import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeApiKey, UuidGenerator } from 'nestjs-messaging';
import type { Config } from './config.js';
import { ConfigError } from './env.js';

/** The secrets that the sample app generates once on the sandbox and keeps. */
export interface Secrets {
  readonly accountId?: string;
  readonly apiKey?: string;
  readonly otpPepper?: string;
  readonly credentialsKey?: string;
  readonly webhookPepper?: string;
  readonly hookPepper?: string;
  readonly managementSecret?: string;
}

type ServiceSecrets = Required<Pick<Secrets, 'otpPepper' | 'credentialsKey'>> & {
  /** Undefined: no webhooks. */
  readonly webhookPepper: string | undefined;
  /** Undefined: no log-in hooks. */
  readonly hookPepper: string | undefined;
  /** Undefined: no management API and no dashboard. */
  readonly managementSecret: string | undefined;
};

/** Reads the kept secrets; there are none on the first start. @throws ConfigError if the file exists but is not ours */
function readSecrets(file: string): Secrets {
  if (!existsSync(file)) return {};
  const kept = withSentence(file, (): unknown => JSON.parse(readFileSync(file, 'utf8')));
  if (typeof kept === 'object' && kept !== null) return kept;
  throw new ConfigError(`${file} does not hold the sample app's secrets.`);
}

/**
 * Keeps secrets in a file that only its owner can read. After a crash the file has its old or its new content, never a part.
 * @throws ConfigError if the file cannot be written
 */
export function keepSecrets(file: string, secrets: Secrets): void {
  withSentence(file, () => {
    const next = writeBeside(file, secrets);
    renameSync(next, file);
  });
}

/**
 * Keeps secrets as `keepSecrets` does, but only if none are kept yet. If several processes start together, one of them writes and
 * returns true.
 */
function keepFirst(file: string, secrets: Secrets): boolean {
  return withSentence(file, () => {
    const next = writeBeside(file, secrets);
    try {
      linkSync(next, file);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(next);
    }
  });
}

/** Writes a file whose name only this process uses. */
function writeBeside(file: string, secrets: Secrets): string {
  makeFolder(dirname(file));
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  return next;
}

/** Makes a folder and its parents. Node's recursive `mkdir` never ends below a folder that takes no entries, such as `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function withSentence<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The parser's message is left out, because it would show a piece of the file.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new ConfigError(
      `The sample app's secrets cannot be kept in ${file}${code}. They are kept next to the database, see DATABASE_URL.`,
    );
  }
}

/**
 * Returns the secrets of the service. Each comes from the settings, else from the kept secrets, else it is generated now and
 * kept. @throws ConfigError
 */
export function serviceSecrets(config: Config): ServiceSecrets {
  const { otpPepper, credentialsKey, webhookPepper, hookPepper, managementSecret, secretsFile } = config;
  if (otpPepper !== undefined && credentialsKey !== undefined) {
    return { otpPepper, credentialsKey, webhookPepper, hookPepper, managementSecret };
  }
  const kept = keptSecrets(secretsFile);
  return {
    otpPepper: otpPepper ?? kept.otpPepper,
    credentialsKey: credentialsKey ?? kept.credentialsKey,
    webhookPepper: webhookPepper ?? kept.webhookPepper,
    hookPepper: hookPepper ?? kept.hookPepper,
    managementSecret: managementSecret ?? kept.managementSecret,
  };
}

/** Reads the kept secrets. Generates and keeps those that are missing. @throws ConfigError */
export function keptSecrets(file: string): Required<Secrets> {
  const made = {
    accountId: 'demo',
    apiKey: makeApiKey(new UuidGenerator()).key,
    otpPepper: newSecret(),
    credentialsKey: newSecret(),
    webhookPepper: newSecret(),
    hookPepper: newSecret(),
    managementSecret: newSecret(),
  };
  if (!existsSync(file) && keepFirst(file, made)) return made;
  const kept = readSecrets(file);
  const all = { ...made, ...kept };
  if (Object.keys(kept).length < Object.keys(all).length) keepSecrets(file, all);
  return all;
}

function newSecret(): string {
  return randomBytes(48).toString('base64url');
}
