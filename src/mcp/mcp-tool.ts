import type { Author } from '../accounts/audit/audit-entry.js';
import type { Caller } from '../accounts/keys/authenticator.js';
import type { PermissionName } from '../accounts/keys/permissions.js';
import type { Schema } from '../schemas/schema.js';

/** A call of a tool. */
export interface ToolCall {
  readonly caller: Caller;
  /** The caller as the author of a change, for the audit log. */
  readonly by: Author;
  /** The arguments as the agent gave them. Their names are checked, their values are not. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** A tool that agents may call. */
export interface Tool {
  readonly name: string;
  /** A name for people. */
  readonly title: string;
  /** What it does, for the agent. */
  readonly description: string;
  /** What a key must be allowed to do; undefined: every key may call the tool. */
  readonly permission?: PermissionName;
  /** True: it changes nothing. */
  readonly readOnly: boolean;
  /** The arguments, as fields of a JSON Schema. */
  readonly fields: Readonly<Record<string, Schema>>;
  /** The names of the arguments that must be given. */
  readonly required: readonly string[];
  /** @throws MessagingError which the agent reads */
  run(call: ToolCall): Promise<object>;
}
