import { Injectable } from '@nestjs/common';
import { UuidGenerator } from 'nestjs-messaging';

/** Replaces a provider of the module: ids with a prefix that says what they name. They still sort by time. */
@Injectable()
export class PrefixedIds extends UuidGenerator {
  override next(): string {
    return `m-${super.next()}`;
  }
}
