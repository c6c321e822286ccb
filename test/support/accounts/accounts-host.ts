import { Controller, Get, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { Caller } from '../../../src/accounts/caller.decorator.js';
import { ApiKeyGuard } from '../../../src/accounts/keys/api-key.guard.js';

/**
 * Routes of a host: one with our key guard, one that lacks the guard it needs, and one that checks its own credentials.
 */
@Controller('host')
export class KeyedHost {
  @UseGuards(ApiKeyGuard)
  @Get('invoices')
  invoices(@Caller() caller: Caller) {
    return caller;
  }

  @UseGuards(ApiKeyGuard)
  @Post('invoices')
  @HttpCode(200)
  create(@Caller() { accountId }: Caller, @Req() { headers }: { headers: { authorization?: string } }) {
    return { accountId, authorization: headers.authorization ?? null };
  }

  @Get('open')
  open() {
    return { open: true };
  }

  @Get('forgotten')
  forgotten(@Caller() caller: Caller) {
    return caller;
  }
}
