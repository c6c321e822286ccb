import type { IncomingHttpHeaders } from 'node:http';
import { Get, Header, Res, type StreamableFile } from '@nestjs/common';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import type { LedgerPage } from '../../billing/ledger.api.js';
import { CsvStreams, wantsCsv } from '../../http/csv.js';
import type { AdapterResponse } from '../../http/event-streams.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RequestHeaders } from '../../http/parameters.js';
import { MessagingQuery } from '../../http/validation.js';
import { ListLedgerQuery } from './ledger.dto.js';
import { LedgerListing } from './ledger-listing.js';

/** The route of an account's ledger (docs/management-api.md). */
@MessagingController()
export class LedgerController {
  constructor(
    private readonly listing: LedgerListing,
    private readonly files: CsvStreams,
  ) {}

  @Get('ledger')
  @Needs('ledger.read')
  // A file of all entries may take longer than the deadline.
  @MessagingRoute({ deadline: false })
  @Header('Vary', 'Accept')
  @Header('X-Content-Type-Options', 'nosniff')
  async list(
    @Caller() { accountId }: Caller,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingQuery() query: ListLedgerQuery,
    @Res({ passthrough: true }) response: AdapterResponse,
  ): Promise<LedgerPage | StreamableFile> {
    if (!wantsCsv(headers)) return this.listing.list(accountId, query);
    return this.files.stream(response, 'ledger', this.listing.csv(accountId, query));
  }
}
