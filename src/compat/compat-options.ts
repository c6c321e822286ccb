import { any, boolean, group, OptionPlace, type OptionsOf } from '../common/options.js';
import { mountPath } from '../http/http-options.js';

/** Which doors are mounted, and where. */
export interface CompatOptions {
  /** Whether the routes of Twilio's Messages and Verify are mounted, below `<path>/twilio`. Default false. */
  readonly twilio?: boolean | undefined;
  /** Whether the `sendsms` of Kannel is mounted, below `<path>/kannel`. Default false. */
  readonly kannel?: boolean | undefined;
  /** The path below the host's global prefix. Its segments follow the same rules as the service's own `path`. Default: `api/v1`. */
  readonly path?: string | undefined;
}

const DEFAULT_PATH = 'api/v1';

const COMPAT_OPTIONS = group({
  twilio: boolean.or(false),
  kannel: boolean.or(false),
  path: any((given, place) => mountPath(given, DEFAULT_PATH, place)).or(DEFAULT_PATH),
} satisfies OptionsOf<CompatOptions>);

const PLACE = new OptionPlace('', (path) => `CompatModule: ${path === '' ? 'the options' : `option ${path}`}`);

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveCompatOptions(options: CompatOptions): {
  readonly twilio: boolean;
  readonly kannel: boolean;
  readonly path: string;
} {
  return COMPAT_OPTIONS.read(options, PLACE);
}
