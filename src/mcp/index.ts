/** A door for agents: the Model Context Protocol. It needs the package `@modelcontextprotocol/sdk`. */

export { McpModule } from './mcp.module.js';
export type { McpOptions } from './mcp-options.js';
