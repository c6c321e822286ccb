import type { OtpOptions } from '../otp/otp-options.js';
import type { SmsOptions } from '../sms/sms-options.js';
import type { CoreValues, MsgappValues, OneOrMore } from './core-options.js';

/** The values that `forRoot` was given or that the factory made; each settings provider resolves its part. */
export abstract class MessagingValues implements CoreValues {
  abstract readonly signatures: readonly string[];
  abstract readonly sms?: SmsOptions | undefined;
  abstract readonly otp?: OtpOptions | undefined;
  abstract readonly msgapp?: OneOrMore<MsgappValues> | undefined;
}
