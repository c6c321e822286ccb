import { any, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
import { mountPath } from '../http/http-options.js';

/** The options of the door for agents. */
export interface McpOptions {
  /**
   * The path of the route below the host's global prefix. Its segments follow the same rules as the service's own `path`.
   * Default: `api/v1/mcp`.
   */
  readonly path?: string | undefined;
}

const DEFAULT_PATH = 'api/v1/mcp';

const MCP_OPTIONS = optionalGroup({
  path: any((given, place) => mountPath(given, DEFAULT_PATH, place)).or(DEFAULT_PATH),
} satisfies OptionsOf<McpOptions>);

const PLACE = new OptionPlace('', (path) => `McpModule: ${path === '' ? 'the options' : `option ${path}`}`);

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveMcpOptions(options?: McpOptions): { readonly path: string } {
  return MCP_OPTIONS.read(options, PLACE);
}
