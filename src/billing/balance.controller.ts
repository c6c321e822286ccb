import { Get } from '@nestjs/common';
import { Caller } from '../accounts/caller.decorator.js';
import { Needs } from '../accounts/needs.decorator.js';
import { MessagingController } from '../http/messaging-controller.js';
import { LedgerService } from './ledger-service.js';

/** The reply with the remaining units of an account (docs/http-api.md). */
export interface Balance {
  readonly userID: string;
  readonly balance: number;
  readonly unit: 'sms_units';
}

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
