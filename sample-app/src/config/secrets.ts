import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from './config.js';
import { ConfigError } from './env.js';

/** What the sample app makes once on the sandbox and keeps. */
export interface Secrets {
  readonly accountId?: string;
  readonly apiKey?: string;
  readonly otpPepper?: string;
  readonly credentialsKey?: string;
}

type ServiceSecrets = Required<Pick<Secrets, 'otpPepper' | 'credentialsKey'>>;

/** What was kept; nothing on the first start. @throws ConfigError when the file is there and is not ours */
export function readSecrets(file: string): Secrets {
  if (!existsSync(file)) return {};
  const kept = withSentence(file, (): unknown => JSON.parse(readFileSync(file, 'utf8')));
  if (typeof kept === 'object' && kept !== null) return kept;
  throw new ConfigError(`${file} does not hold the sample app's secrets.`);
}

/**
 * Keeps secrets in a file that only its owner can read; a crash leaves the old file or the new one.
 * @throws ConfigError when that cannot be
 */
export function keepSecrets(file: string, secrets: Secrets): void {
  withSentence(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    const next = `${file}.new`;
    writeFileSync(next, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(next, 0o600);
    renameSync(next, file);
  });
}

function withSentence<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // What a parser says would show a piece of the file.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new ConfigError(
      `The sample app's secrets cannot be kept in ${file}${code}: see DATABASE_URL, which they lie beside.`,
    );
  }
}

/** The secrets of the service: as they were given, else kept, or made now and kept. @throws ConfigError */
export function serviceSecrets({ otpPepper, credentialsKey, secretsFile }: Config): ServiceSecrets {
  return {
    otpPepper: otpPepper ?? keptSecret(secretsFile, 'otpPepper'),
    credentialsKey: credentialsKey ?? keptSecret(secretsFile, 'credentialsKey'),
  };
}

function keptSecret(file: string, name: keyof ServiceSecrets): string {
  const kept = readSecrets(file);
  const known = kept[name];
  if (known !== undefined) return known;
  const made = randomBytes(48).toString('base64url');
  keepSecrets(file, { ...kept, [name]: made });
  return made;
}
