import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { maskNumber } from '../common/phone-numbers/phone-number.js';
import { AuditLog } from './audit/audit.js';
import { type Author } from './audit/audit-entry.js';
import type { Caller } from './keys/authenticator.js';

/**
 * Decides how much of texts and numbers a caller sees. An account sees all of its own. Operators see them masked. Only
 * the role `operator` may read a single message in clear, and each such reading is in the audit log.
 */
@Injectable()
export class TextAccess {
  constructor(
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns a listing as the caller may see it. */
  many<T extends object>({ user }: Caller, view: T): T {
    return user?.operator === undefined ? view : masked(view);
  }

  /**
   * Returns one message as the caller may see it.
   * @param target the id of the message
   * @throws StorageUnavailableError if the reading cannot be recorded
   */
  async one<T extends object>({ user, accountId }: Caller, by: Author, target: string, view: T): Promise<T> {
    if (user?.operator === undefined) return view;
    if (user.operator !== 'operator') return masked(view);
    await this.log.record({ accountId, at: this.clock.now(), by, action: 'text.read', target });
    return view;
  }

  /**
   * Must be called before a file that somebody sent is returned. It records an operator's reading in the audit log.
   * @throws StorageUnavailableError if the reading cannot be recorded
   */
  async file(caller: Caller, by: Author, target: string): Promise<void> {
    await this.one(caller, by, target, {});
  }
}

/** The fields of views that contain texts. `NUMBERS` lists those that contain phone numbers. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'text', 'body', 'caption', 'fileName', 'file_name']);
const NUMBERS: ReadonlySet<string> = new Set(['number', 'from', 'to']);

/** Returns a copy of a view with its texts and numbers masked. */
function masked<T extends object>(view: T): T {
  // The type stays the same, because masked texts and numbers are strings too.
  return maskedValue(view) as T;
}

function maskedValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (TEXTS.has(name)) return `••• (${[...value].length})`;
    return NUMBERS.has(name) && /^\d+$/.test(value) ? maskNumber(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => maskedValue(each, name));
  if (typeof value !== 'object' || value === null) return value;
  // An item that needs attention has a target of one of several kinds. Only the target of `number_lost` is a number.
  const isNumber = (field: string) => field === 'target' && 'kind' in value && value.kind === 'number_lost';
  return Object.fromEntries(
    Object.entries(value).map(([field, each]) => [field, maskedValue(each, isNumber(field) ? 'number' : field)]),
  );
}
