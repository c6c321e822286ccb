import { HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { IsString } from 'class-validator';
import { MessagingError } from '../common/errors.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingBody } from '../http/validation.js';
import { PhoneNumberPipe } from './phone-number.pipe.js';
import { SandboxHostGuard } from './sandbox-host.guard.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** Body of `POST …/phones/:number/scan`. */
export class ScanBody {
  /** The string of the `qr` event. */
  @IsString()
  readonly qr: string = '';
}

/** What the sandbox's phones can do. It has a body, so the edge takes it in, whatever the host does with bodies. */
@MessagingController({ authenticated: false })
@UseGuards(SandboxHostGuard)
export class SandboxScanController {
  constructor(private readonly scanner: SandboxScanner) {}

  /** Links a number, as scanning with a phone would. */
  @Post('phones/:number/scan')
  @HttpCode(204)
  async scan(@Param('number', PhoneNumberPipe) number: string, @MessagingBody() { qr }: ScanBody): Promise<void> {
    if (!(await this.scanner.scan(qr, number))) throw new MessagingError('error.qr_not_found');
  }
}
