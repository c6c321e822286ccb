import { describeController } from '../openapi/controller-description.js';
import { McpController } from './mcp.controller.js';

const MESSAGE = { type: 'object', description: 'A JSON-RPC 2.0 message of the Model Context Protocol.' } as const;

/** OpenAPI description of the door for agents (docs/mcp.md). */
export const mcpOpenapi = describeController(McpController, () => ({
  tag: { name: 'MCP', description: 'The Model Context Protocol, for agents.' },
  routes: {
    call: {
      operationId: 'mcp',
      summary: 'A message of the Model Context Protocol',
      answer: { description: 'The answer.', content: { 'application/json': { schema: MESSAGE } } },
    },
    stream: {
      operationId: 'mcpStream',
      summary: 'Refused: there are no streams',
      answer: { description: 'Always 405.', content: { 'application/json': { schema: MESSAGE } } },
    },
    end: {
      operationId: 'mcpEnd',
      summary: 'Refused: there are no sessions',
      answer: { description: 'Always 405.', content: { 'application/json': { schema: MESSAGE } } },
    },
  },
}));
