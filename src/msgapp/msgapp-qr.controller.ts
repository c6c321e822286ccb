import { Get, Header, type MessageEvent, Param, Res, Sse, StreamableFile } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type AdapterResponse, MAX_WAITING } from '../http/event-streams.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingRoute } from '../http/mounted-routes.js';
import { RequestSignal } from '../http/parameters.js';
import { QrCodes } from './sessions/qr-codes.js';

/** Shows the codes to scan. The token in the path authenticates; an API key is ignored. */
@MessagingController({ authenticated: false })
export class MsgappQrController {
  constructor(private readonly codes: QrCodes) {}

  @Sse('web/qr/:qrToken', { maxPendingDataLength: MAX_WAITING })
  @MessagingRoute({ deadline: false })
  events(
    @Param('qrToken') qrToken: string,
    @Res({ passthrough: true }) response: AdapterResponse,
  ): Observable<MessageEvent> {
    return this.codes.stream(qrToken, response);
  }

  @Get('web/qr/:qrToken/image')
  @MessagingRoute({ waits: true })
  @Header('Cache-Control', 'no-store')
  @Header('X-Content-Type-Options', 'nosniff')
  async image(@Param('qrToken') qrToken: string, @RequestSignal() signal: AbortSignal): Promise<StreamableFile> {
    return new StreamableFile(await this.codes.png(qrToken, signal), { type: 'image/png' });
  }
}
