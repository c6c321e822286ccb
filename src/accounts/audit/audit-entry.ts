import type { PageRequest } from '../../common/page.js';
import type { AuditAction } from './audit.api.js';

/** Who makes a change, and from where. */
export interface Author {
  /** `user`: one of the account; `operator`: one of the operator; `key`: a program; `host`: the host's own code. */
  readonly kind: 'user' | 'operator' | 'key' | 'host';
  /** The subject of a user, the public part of a key; undefined for the host. */
  readonly id?: string | undefined;
  /** The client's address, as the framework has it. */
  readonly address?: string | undefined;
}

/** The author of changes for which nobody else is named. */
export const HOST: Author = { kind: 'host' };

/** A change, for the audit log. It holds no secret, no code, and no text of a message. */
export interface AuditEntry {
  /** The account that was changed; undefined: none in particular. */
  readonly accountId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: Author;
  readonly action: AuditAction;
  /** What was changed: the id of a key or an endpoint, a name, a number. */
  readonly target: string;
  /** The fields that changed, as they were and as they are; undefined where there were none. */
  readonly before?: AuditFields | undefined;
  readonly after?: AuditFields | undefined;
}

export type AuditFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** An entry of the log. */
export interface StoredAuditEntry extends AuditEntry {
  readonly id: string;
}

/** The filter of a listing. */
export interface AuditQuery extends PageRequest {
  /** Undefined: of all accounts, and of none. */
  readonly accountId?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** From this moment on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Before this moment, milliseconds since the epoch. */
  readonly until?: number | undefined;
}
