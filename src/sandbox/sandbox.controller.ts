import {
  Get,
  Header,
  Injectable,
  type MessageEvent,
  Param,
  type PipeTransform,
  Res,
  Sse,
  StreamableFile,
  UseGuards,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { MessagingError } from '../common/errors.js';
import { qrDataUrl } from '../common/qr-image.js';
import { type AdapterResponse, MOST_WAITING } from '../http/event-streams.js';
import { MessagingController } from '../http/messaging-controller.js';
import { type PhoneMessageView, phoneMessageView } from './phone-message-view.js';
import { PhoneNumberPipe } from './phone-number.pipe.js';
import { PhoneStore } from './phone-store.js';
import { SandboxHostGuard } from './sandbox-host.guard.js';
import { SandboxLive } from './sandbox-live.js';
import { type SandboxMedia, sandboxMedia } from './sandbox-media.js';
import { pagePolicy, SandboxPage } from './sandbox-page.js';
import { SandboxScanner, type ShownCode } from './sandbox-scanner.js';

/** Number of messages that the page loads first. */
const LATEST = 500;

/**
 * Resolves a name to the sandbox's file.
 * @throws MessagingError `error.file_not_found`
 */
@Injectable()
export class SandboxMediaPipe implements PipeTransform<string, SandboxMedia> {
  transform(name: string): SandboxMedia {
    const file = sandboxMedia(name);
    if (!file) throw new MessagingError('error.file_not_found');
    return file;
  }
}

/** The sandbox's endpoints. They are unauthenticated and show codes; only `SandboxModule` mounts them. */
@MessagingController({ authenticated: false, intake: false })
@UseGuards(SandboxHostGuard)
export class SandboxController {
  constructor(
    private readonly phones: PhoneStore,
    private readonly scanner: SandboxScanner,
    private readonly live: SandboxLive,
    private readonly page: SandboxPage,
  ) {}

  /** Returns the messages of one phone, oldest first. */
  @Get('phones/:number/messages')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async messages(@Param('number', PhoneNumberPipe) number: string): Promise<readonly PhoneMessageView[]> {
    return (await this.phones.messages(number)).map(phoneMessageView);
  }

  /** Returns the newest messages over all phones, newest first. */
  @Get('phones')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async latest(): Promise<readonly PhoneMessageView[]> {
    return (await this.phones.latest(LATEST)).map(phoneMessageView);
  }

  /** Returns the codes that sessions of this process show now. */
  @Get('codes')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  codes(): Promise<readonly CodeView[]> {
    return Promise.all(this.scanner.codes.map(codeView));
  }

  /** Returns a small file to send. */
  @Get('media/:name')
  @Header('X-Content-Type-Options', 'nosniff')
  media(@Param('name', SandboxMediaPipe) { mimetype, bytes }: SandboxMedia): StreamableFile {
    return new StreamableFile(bytes, { type: mimetype, length: bytes.length });
  }

  /** Streams each message that a phone of this process receives from now on, and an event at each change of the codes. */
  @Sse('events', { maxPendingDataLength: MOST_WAITING })
  @Header('X-Content-Type-Options', 'nosniff')
  events(@Res({ passthrough: true }) response: AdapterResponse): Observable<MessageEvent> {
    return this.live.stream(response);
  }

  /** Returns the page that shows the phones live. */
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', pagePolicy)
  @Header('Cache-Control', 'no-store')
  @Header('Referrer-Policy', 'no-referrer')
  @Header('X-Content-Type-Options', 'nosniff')
  show(): string {
    return this.page.html;
  }
}

/** A code as the sandbox endpoints return it. */
export interface CodeView {
  readonly qr: string;
  /** PNG, `data:image/png;base64,…`. */
  readonly image: string;
  /** Name of the session's channel. */
  readonly channel: string;
  readonly sessionID: string;
}

/** Converts a code to its wire form. */
async function codeView({ qr, channel, sessionId }: ShownCode): Promise<CodeView> {
  return { qr, image: await qrDataUrl(qr), channel, sessionID: sessionId };
}
