import {
  Delete,
  Get,
  Header,
  Headers,
  HttpCode,
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
import { internationalNumber } from '../common/phone-numbers/phone-number.js';
import { qrDataUrl } from '../common/text/qr-image.js';
import { type AdapterResponse, MAX_WAITING } from '../http/event-streams.js';
import { MessagingController } from '../http/messaging-controller.js';
import { ReplyHeaders } from '../http/parameters.js';
import { phoneMessageView } from './phones/phone-message-view.js';
import { PhoneNumberPipe } from './phones/phone-number.pipe.js';
import { PhoneStore } from './phones/phone-store.js';
import { screenMessageView } from './phones/screen-view.js';
import type { CodeView, LinkView } from './sandbox.api.js';
import { type PhoneMessageView, type ScreenMessageView } from './sandbox.api.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxFiles } from './sandbox-files.js';
import { IsLocal, SameOriginGuard, SandboxHostGuard } from './sandbox-guards.js';
import { SandboxLive } from './sandbox-live.js';
import { type SandboxMedia, sandboxMedia } from './sandbox-media.js';
import { pagePolicy, SandboxPage } from './sandbox-page.js';
import { type LinkedNumber, SandboxScanner, type ShownCode } from './sandbox-scanner.js';

/** How many messages the page loads first. */
const LATEST = 500;

/**
 * Returns the sandbox's file with a name.
 * @throws MessagingError `error.file_not_found`
 */
@Injectable()
class SandboxMediaPipe implements PipeTransform<string, SandboxMedia> {
  transform(name: string): SandboxMedia {
    const file = sandboxMedia(name);
    if (!file) throw new MessagingError('error.file_not_found');
    return file;
  }
}

/** The sandbox's endpoints. They need no authentication and show codes. Only `SandboxModule` mounts them. */
@MessagingController({ authenticated: false, intake: false })
@UseGuards(SandboxHostGuard)
export class SandboxController {
  constructor(
    private readonly phones: PhoneStore,
    private readonly scanner: SandboxScanner,
    private readonly live: SandboxLive,
    private readonly page: SandboxPage,
    private readonly files: SandboxFiles,
    private readonly feed: SandboxFeed,
  ) {}

  /** Returns the messages of one phone, oldest first. */
  @Get('phones/:number/messages')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async messages(@Param('number', PhoneNumberPipe) number: string): Promise<readonly PhoneMessageView[]> {
    return (await this.phones.messages(number)).map(phoneMessageView);
  }

  /** Returns the newest messages that were sent to one phone, newest first. Messages that did not arrive are among them. */
  @Get('phones/:number/screen')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async screen(@Param('number', PhoneNumberPipe) number: string): Promise<readonly ScreenMessageView[]> {
    return (await this.phones.latest(LATEST, number)).map(screenMessageView);
  }

  /** Returns the file of a message that a phone received. */
  @Get('phones/:number/messages/:messageID/media')
  @Header('Accept-Ranges', 'bytes')
  @Header('Cache-Control', 'no-store')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @Header('Cross-Origin-Resource-Policy', 'same-origin')
  @Header('X-Content-Type-Options', 'nosniff')
  file(
    @Param('number', PhoneNumberPipe) number: string,
    @Param('messageID') messageID: string,
    @Headers('range') range: string | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<StreamableFile> {
    return this.files.open(number, messageID, range ?? '', headers);
  }

  /** Removes all messages of all phones, with their files. */
  @Delete('phones')
  @HttpCode(204)
  @UseGuards(SameOriginGuard)
  async clear(): Promise<void> {
    await this.files.clear();
    this.feed.change();
  }

  /** Returns the newest messages over all phones, newest first. Messages that did not arrive are among them. */
  @Get('phones')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async latest(): Promise<readonly ScreenMessageView[]> {
    return (await this.phones.latest(LATEST)).map(screenMessageView);
  }

  /** Returns the codes that sessions of this process show now. */
  @Get('codes')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  codes(): Promise<readonly CodeView[]> {
    return Promise.all(this.scanner.codes.map(codeView));
  }

  /** Returns the numbers that sessions of this process are linked to. */
  @Get('links')
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  links(): readonly LinkView[] {
    return this.scanner.linked.map(linkView);
  }

  /** Returns a small file to send. */
  @Get('media/:name')
  @Header('X-Content-Type-Options', 'nosniff')
  media(@Param('name', SandboxMediaPipe) { mimetype, bytes }: SandboxMedia): StreamableFile {
    return new StreamableFile(bytes, { type: mimetype, length: bytes.length });
  }

  /** Streams each message that a phone of this process receives from now on, and an event at each change of the codes. */
  @Sse('events', { maxPendingDataLength: MAX_WAITING })
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
  show(@IsLocal() local: boolean): string {
    return this.page.html(local);
  }
}

/** Converts a code to the form of the API. */
async function codeView({ qr, channel, sessionId }: ShownCode): Promise<CodeView> {
  return { qr, image: await qrDataUrl(qr), channel, sessionID: sessionId };
}

function linkView({ number, channel, sessionId }: LinkedNumber): LinkView {
  return { number, numberText: internationalNumber(number), channel, sessionID: sessionId };
}
