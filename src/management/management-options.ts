import { MessagingOptionsError } from '../common/errors.js';
import { list, OptionPlace, type OptionsOf, optionalGroup, readOptions } from '../common/options.js';
import { ORIGIN } from '../common/origin.js';
import { DAY_MS } from '../common/time.js';
import { DURATION, secretOf } from '../outbox/retention/retention-options.js';

/** Options of the management API. */
export interface ManagementOptions {
  /** The secret that access tokens are signed with: at least 32 random characters, kept outside the database. */
  readonly secret: string;
  /**
   * The old `secret` after a change, so that user sessions go on. Keep it for as long as a session may be unused
   * (`session.idle`). Default none.
   */
  readonly previousSecret?: string | undefined;
  /**
   * The origins of pages that may sign in from browsers that do not send `Sec-Fetch-Site`, such as `https://desk.example.com`.
   * Default none.
   */
  readonly origins?: readonly string[] | undefined;
  /** How long user sessions last: a whole number of hours, days, weeks, months or years. */
  readonly session?:
    | {
        /** How long a session lasts if nobody uses it. Default `1 day`. */
        readonly idle?: string | undefined;
        /** How long a session lasts even if somebody uses it. Default `30 days`. */
        readonly longest?: string | undefined;
      }
    | undefined;
}

/** `ManagementOptions`, checked and with defaults. */
export abstract class ManagementSettings {
  /** The keys of the secrets, the current one first. */
  abstract readonly keys: readonly Buffer[];
  abstract readonly origins: ReadonlySet<string>;
  /** How long user sessions last, in milliseconds. */
  abstract readonly session: { readonly idle: number; readonly longest: number };
}

const SECRET = secretOf('management');

/** Reads and checks `ManagementOptions`. */
export const MANAGEMENT_OPTIONS = {
  secret: SECRET,
  previousSecret: SECRET.or(undefined),
  origins: list(ORIGIN, 'origins').or([]),
  session: optionalGroup({
    idle: DURATION.or(DAY_MS),
    longest: DURATION.or(30 * DAY_MS),
  } satisfies OptionsOf<NonNullable<ManagementOptions['session']>>),
} satisfies OptionsOf<ManagementOptions>;

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveManagementSettings(options: ManagementOptions | undefined): ManagementSettings {
  if (options?.secret === undefined) {
    throw new MessagingOptionsError(
      'Option management is missing: { secret }, the secret that access tokens are signed with. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  const place = new OptionPlace('management');
  const { secret, previousSecret, origins, session } = readOptions(MANAGEMENT_OPTIONS, options, place);
  return { keys: [secret, ...(previousSecret ? [previousSecret] : [])], origins: new Set(origins), session };
}
