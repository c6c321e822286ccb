import { HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingBody } from '../http/validation.js';
import { IsString } from '../http/validators.js';
import { PhoneNumberPipe } from './phone-number.pipe.js';
import { SandboxHostGuard } from './sandbox-guards.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** Body of `POST …/phones/:number/scan`. */
export class ScanBody {
  /** The value of the `qr` event. */
  @IsString()
  readonly qr: string = '';
}

/** What sandbox phones can do. This route has a body, which our own request gate reads whatever body parser the host uses. */
@MessagingController({ authenticated: false })
@UseGuards(SandboxHostGuard)
export class SandboxScanController {
  constructor(private readonly scanner: SandboxScanner) {}

  /** Links a number to the session, as scanning the code with that phone would. */
  @Post('phones/:number/scan')
  @HttpCode(204)
  async scan(@Param('number', PhoneNumberPipe) number: string, @MessagingBody() { qr }: ScanBody): Promise<void> {
    if (!(await this.scanner.scan(qr, number))) throw new MessagingError('error.qr_not_found');
  }
}
