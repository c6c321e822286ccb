import type { Capability } from '../core/capability.js';
import { otpOpenapi } from './otp.openapi.js';
import { OtpService } from './otp-service.js';
import { OtpSettings } from './otp-settings.js';
import { OtpTextSource } from './otp-text-source.js';

/** One-time passcodes, beside `OtpSettings`, which depend on the options. */
export const OTP_CAPABILITY: Capability = {
  controllers: [otpOpenapi],
  providers: [OtpTextSource, OtpService],
  exports: [OtpService, OtpSettings],
};
