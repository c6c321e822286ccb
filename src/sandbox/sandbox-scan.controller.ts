import { HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingBody } from '../http/validation.js';
import { IsOptional, IsString } from '../http/validators.js';
import { PhoneNumberPipe } from './phones/phone-number.pipe.js';
import { PhoneReplies } from './phones/phone-replies.js';
import { SandboxHostGuard } from './sandbox-guards.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** Body of `POST …/phones/:number/scan`. */
export class ScanBody {
  /** The value of the `qr` event. */
  @IsString()
  readonly qr: string = '';
}

/** Body of `POST …/phones/:number/messages`. */
export class ReplyBody {
  @IsString()
  readonly to: string = '';

  @IsOptional()
  @IsString()
  readonly channel?: string;

  /** It is optional here, because a file may have no text, and a reaction that is taken back has none. */
  @IsOptional()
  @IsString()
  readonly text?: string;

  @IsOptional()
  @IsString()
  readonly media?: string;

  @IsOptional()
  @IsString()
  readonly replyTo?: string;

  @IsOptional()
  @IsString()
  readonly reaction?: string;

  /** `PhoneReplies` checks which values are allowed. */
  @IsOptional()
  readonly hidden?: boolean;
}

/** The actions of sandbox phones. Our own request gate reads the bodies of these routes, whatever body parser the host uses. */
@MessagingController({ authenticated: false })
@UseGuards(SandboxHostGuard)
export class SandboxScanController {
  constructor(
    private readonly scanner: SandboxScanner,
    private readonly replies: PhoneReplies,
  ) {}

  /** Writes with that phone, as its owner would. */
  @Post('phones/:number/messages')
  @HttpCode(204)
  reply(@Param('number', PhoneNumberPipe) number: string, @MessagingBody() body: ReplyBody): Promise<void> {
    const { to, channel = 'sms', text = '', ...about } = body;
    return this.replies.write(number, { to, channel, text, ...about });
  }

  /** Links a number to the session, as scanning the code with that phone would. */
  @Post('phones/:number/scan')
  @HttpCode(204)
  async scan(@Param('number', PhoneNumberPipe) number: string, @MessagingBody() { qr }: ScanBody): Promise<void> {
    if (!(await this.scanner.scan(qr, number))) throw new MessagingError('error.qr_not_found');
  }
}
