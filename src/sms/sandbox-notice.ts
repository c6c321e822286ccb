import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { SmsTransport } from './sms-transport.js';

/** Says at start, where the sandbox was nobody's choice, that the service reaches nobody. It changes nothing else. */
@Injectable()
export class SandboxNotice implements OnModuleInit {
  constructor(private readonly transport: SmsTransport) {}

  onModuleInit(): void {
    // A test may have put another in its place.
    if (this.transport.name !== 'sandbox') return;
    new Logger('Messaging').log('SMS go to the sandbox and reach no phone: no sms.transport was given.');
  }
}
