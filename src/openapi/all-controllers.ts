import { balanceOpenapi } from '../billing/balance.openapi.js';
import { msgappOpenapi, msgappQrOpenapi } from '../msgapp/msgapp.openapi.js';
import { otpOpenapi } from '../otp/otp.openapi.js';
import { sandboxOpenapi, sandboxScanOpenapi } from '../sandbox/sandbox.openapi.js';
import { smsOpenapi } from '../sms/sms.openapi.js';
import { smsCallbackOpenapi } from '../sms/sms-callback.openapi.js';
import type { ControllerDescription } from './controller-description.js';

/** Every controller of ours with its description; only what an application has mounted is shown. */
export const ALL_CONTROLLERS: readonly ControllerDescription[] = [
  smsOpenapi,
  otpOpenapi,
  msgappOpenapi,
  msgappQrOpenapi,
  balanceOpenapi,
  smsCallbackOpenapi,
  sandboxOpenapi,
  sandboxScanOpenapi,
];
