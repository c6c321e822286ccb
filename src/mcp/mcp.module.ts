import { type DynamicModule, Module } from '@nestjs/common';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { Confirmations } from './confirmations.js';
import { mcpOpenapi } from './mcp.openapi.js';
import { type McpOptions, resolveMcpOptions } from './mcp-options.js';
import { McpServers } from './mcp-servers.js';
import { McpTools } from './mcp-tools.js';
import { SmsTool } from './sms-tool.js';

/**
 * Mounts a door for agents, such as language models: the tools of the Model Context Protocol over stateless Streamable HTTP, at
 * `POST /api/v1/mcp`. Agents use the API keys of accounts, in `X-Api-Key` or in `Authorization: Bearer`, and see only the tools
 * that their key may use. It needs `SmsModule`, which `MessagingModule` brings. The tool `list_received` needs webhooks, too.
 *
 * @example
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot(options), McpModule.forRoot()] })
 * ```
 */
@Module({})
export class McpModule extends ConfiguredModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options?: McpOptions): DynamicModule {
    const { path } = resolveMcpOptions(options);
    return capabilityModule(
      McpModule,
      { path, controllers: true },
      { controllers: [mcpOpenapi], providers: [Confirmations, SmsTool, McpTools, McpServers] },
    );
  }
}
