import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';

/** Makes identifiers and all randomness that is not a secret's own business. */
export abstract class IdGenerator {
  /** A new identifier, unique everywhere, later ones sorting after earlier ones of the same process (UUID version 7, RFC 9562). */
  abstract next(): string;

  /** `size` bytes from a cryptographically secure source. */
  abstract bytes(size: number): Buffer;

  /** A number in [0, 1), for jitter; not for secrets. */
  abstract random(): number;
}

/** UUIDs of version 7: sorted by time, so that indexes grow at their end. */
@Injectable()
export class UuidGenerator extends IdGenerator {
  override next(): string {
    return v7();
  }

  override bytes(size: number): Buffer {
    return randomBytes(size);
  }

  override random(): number {
    return Math.random();
  }
}
