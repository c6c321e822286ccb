import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { SystemClock } from './clock.js';
import { describePort, method } from './port.js';

const POOL_BYTES = 8192;

const ID = /^[\w-]{1,64}$/;

/** Whether a value has the form of our ids. Other values are not looked up: PostgreSQL, for example, refuses a NUL. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/** Returns 96 random bits as text. Stores use it, because they have no `IdGenerator`. */
export function randomMark(): string {
  return randomBytes(12).toString('base64url');
}

/** Makes identifiers and random values. Tests replace it by a deterministic generator. */
export abstract class IdGenerator {
  /** A new, globally unique identifier that sorts after earlier ones of the same process (UUID version 7, RFC 9562). */
  abstract next(): string;

  /** `size` bytes from a cryptographically secure source. */
  abstract bytes(size: number): Buffer;

  /** A number in [0, 1), for jitter; not for secrets. */
  abstract random(): number;
}

describePort(IdGenerator, { next: method, bytes: method, random: method });

/** Makes UUIDs of version 7, which sort by time, so that indexes grow at their end. */
@Injectable()
export class UuidGenerator extends IdGenerator {
  private readonly clock = new SystemClock();
  private pool = randomBytes(POOL_BYTES);
  private taken = 0;
  private lastMs = 0;
  private sequence = 0;

  override next(): string {
    const now = this.clock.now();
    if (now > this.lastMs) {
      this.lastMs = now;
      this.sequence = this.bytes(4).readUInt32BE() >>> 1;
    } else {
      this.sequence++;
    }
    return v7({ msecs: this.lastMs, seq: this.sequence, random: this.bytes(16) });
  }

  override bytes(size: number): Buffer {
    return size <= POOL_BYTES ? this.fromPool(size) : randomBytes(size);
  }

  /** Takes unused bytes from a pool, because a system call for each id would take longer than making the id. */
  private fromPool(size: number): Buffer {
    if (this.taken + size > POOL_BYTES) {
      this.pool = randomBytes(POOL_BYTES);
      this.taken = 0;
    }
    this.taken += size;
    return this.pool.subarray(this.taken - size, this.taken);
  }

  override random(): number {
    return Math.random();
  }
}
