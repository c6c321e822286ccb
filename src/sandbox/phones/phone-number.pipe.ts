import { Injectable, type PipeTransform } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { shortened } from '../../http/validators.js';

/**
 * Accepts E.164 digits without the plus sign and passes them on unchanged. Anything else is answered with a 400 that quotes the
 * value.
 */
@Injectable()
export class PhoneNumberPipe implements PipeTransform<string, string> {
  transform(number: string): string {
    if (isPhoneNumber(number)) return number;
    throw new MessagingError('error.invalid_number', { number: shortened(number) });
  }
}
