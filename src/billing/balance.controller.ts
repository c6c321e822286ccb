import { Get } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/keys/needs.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import type { Balance } from './balance.api.js';
import { LedgerService } from './ledger-service.js';

/** `GET /balance`. */
@MessagingController()
export class BalanceController {
  constructor(private readonly ledger: LedgerService) {}

  @Get('balance')
  @Needs('balance.read')
  async balance(@Caller() { accountId }: Caller): Promise<Balance> {
    return { userID: accountId, balance: await this.ledger.balance(accountId), unit: 'sms_units' };
  }
}
