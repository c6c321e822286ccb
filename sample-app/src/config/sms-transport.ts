import { SandboxSmsTransport } from 'nestjs-messaging';
import { HttpSmsTransport } from 'nestjs-messaging/http';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import type { SmsConfig } from './sms-config.js';

/** Returns the options of SMS that the environment decides. To use another carrier, change one line. */
export function smsTransport(config: SmsConfig) {
  switch (config.transport) {
    case 'sandbox':
      return { transport: SandboxSmsTransport };
    case 'smpp':
      return { transport: SmppSmsTransport.forRoot(config.smpp) };
    case 'http': {
      const { http, callbackBaseUrl } = config;
      const base = callbackBaseUrl === undefined ? {} : { callbackBaseUrl };
      return { transport: HttpSmsTransport.forRoot(http), ...base };
    }
  }
}
