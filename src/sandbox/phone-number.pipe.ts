import { Injectable, type PipeTransform } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { isPhoneNumber } from '../common/phone-number.js';
import { shortened } from '../http/validators.js';

/** Lets a phone number through as it stands: E.164 digits without the plus sign. Anything else is a 400 that names it. */
@Injectable()
export class PhoneNumberPipe implements PipeTransform<string, string> {
  transform(number: string): string {
    if (isPhoneNumber(number)) return number;
    throw new MessagingError('error.invalid_number', { number: shortened(number) });
  }
}
