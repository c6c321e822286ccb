import { Injectable } from '@nestjs/common';
import { UuidGenerator } from 'nestjs-messaging';

/** A provider of ours in the place of the module's: ids that say what they are. They still sort by time. */
@Injectable()
export class PrefixedIds extends UuidGenerator {
  override next(): string {
    return `m-${super.next()}`;
  }
}
