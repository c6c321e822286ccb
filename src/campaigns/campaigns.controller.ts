import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Delete, Get, Header, HttpCode, Param, Post, Res, type StreamableFile } from '@nestjs/common';
import { Author } from '../accounts/audit/author.decorator.js';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { TextAccess } from '../accounts/text-access.js';
import { Change } from '../http/change.decorator.js';
import { CSV, CsvStreams, wantsCsv } from '../http/csv.js';
import type { AdapterResponse } from '../http/event-streams.js';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingRoute } from '../http/mounted-routes.js';
import { BodyStream, RequestHeaders } from '../http/parameters.js';
import { MessagingBody, MessagingQuery } from '../http/validation.js';
import type { CampaignPage, CampaignQuote, CampaignRecipientPage, CampaignView, ImportResult } from './campaign.api.js';
import { CampaignService } from './campaign-service.js';
import {
  CreateCampaignBody,
  ImportRecipientsBody,
  ImportRecipientsQuery,
  ListCampaignRecipientsQuery,
  ListCampaignsQuery,
  TestCampaignBody,
} from './campaigns.dto.js';

/** The routes of campaigns (docs/campaigns.md). */
@MessagingController()
export class CampaignsController {
  constructor(
    private readonly campaigns: CampaignService,
    private readonly texts: TextAccess,
    private readonly files: CsvStreams,
  ) {}

  @Post('campaigns')
  @Needs('campaigns.write')
  @HttpCode(200)
  create(
    @Caller() { accountId }: Caller,
    @MessagingBody() body: CreateCampaignBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer((call) => this.campaigns.create(accountId, body, call));
  }

  @Get('campaigns')
  @Needs('campaigns.read')
  async list(@Caller() caller: Caller, @MessagingQuery() query: ListCampaignsQuery): Promise<CampaignPage> {
    return this.texts.many(caller, await this.campaigns.list(caller.accountId, query));
  }

  @Get('campaigns/:id')
  @Needs('campaigns.read')
  async get(@Caller() caller: Caller, @Param('id') id: string): Promise<CampaignView> {
    return this.texts.many(caller, await this.campaigns.get(caller.accountId, id));
  }

  @Delete('campaigns/:id')
  @Needs('campaigns.write')
  remove(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @Author() by: Author,
  ): Promise<{ readonly success: true }> {
    return this.campaigns.remove(accountId, id, { by });
  }

  @Post('campaigns/:id/recipients')
  @Needs('campaigns.write')
  @HttpCode(200)
  // A file of a million rows may take longer than the deadline.
  @MessagingRoute({ deadline: false, streamed: CSV })
  import(
    @Caller() { accountId }: Caller,
    @Param('id') id: string,
    @BodyStream() file: Readable | undefined,
    @MessagingBody() { to = [] }: ImportRecipientsBody,
    @MessagingQuery() { number: column }: ImportRecipientsQuery,
    @Author() by: Author,
  ): Promise<ImportResult> {
    return file
      ? this.campaigns.importCsv(accountId, id, file, { column, by })
      : this.campaigns.importList(accountId, id, to, { by });
  }

  @Get('campaigns/:id/recipients')
  @Needs('campaigns.read')
  @MessagingRoute({ deadline: false })
  @Header('Vary', 'Accept')
  @Header('X-Content-Type-Options', 'nosniff')
  async recipients(
    @Caller() caller: Caller,
    @Param('id') id: string,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingQuery() query: ListCampaignRecipientsQuery,
    @Res({ passthrough: true }) response: AdapterResponse,
  ): Promise<CampaignRecipientPage | StreamableFile> {
    const { accountId } = caller;
    if (!wantsCsv(headers)) return this.texts.many(caller, await this.campaigns.recipients(accountId, id, query));
    const lines = await this.campaigns.recipientsCsv(accountId, id, query, (page) => this.texts.many(caller, page));
    return this.files.stream(response, 'recipients', lines);
  }

  @Post('campaigns/:id/quote')
  @Needs('campaigns.read')
  @HttpCode(200)
  @MessagingRoute({ deadline: false })
  async quote(@Caller() caller: Caller, @Param('id') id: string): Promise<CampaignQuote> {
    return this.texts.many(caller, await this.campaigns.quote(caller.accountId, id));
  }

  @Post('campaigns/:id/test')
  @Needs('campaigns.send')
  @HttpCode(200)
  test(
    @Caller() { accountId, key }: Caller,
    @Param('id') id: string,
    @MessagingBody() body: TestCampaignBody,
    @Change() change: Change,
  ): Promise<object> {
    return change.answer(({ once }) => this.campaigns.test(accountId, id, body, { once, key }));
  }

  @Post('campaigns/:id/start')
  @Needs('campaigns.send')
  @HttpCode(200)
  start(@Caller() { accountId, key }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.campaigns.start(accountId, id, { ...call, key }));
  }

  @Post('campaigns/:id/pause')
  @Needs('campaigns.write')
  @HttpCode(200)
  pause(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.campaigns.pause(accountId, id, call));
  }

  @Post('campaigns/:id/resume')
  @Needs('campaigns.send')
  @HttpCode(200)
  resume(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.campaigns.resume(accountId, id, call));
  }

  @Post('campaigns/:id/cancel')
  @Needs('campaigns.write')
  @HttpCode(200)
  cancel(@Caller() { accountId }: Caller, @Param('id') id: string, @Change() change: Change): Promise<object> {
    return change.answer((call) => this.campaigns.cancel(accountId, id, call));
  }
}
