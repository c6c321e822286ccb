import { expect, test } from '@jest/globals';
import type { CreateCampaignBody } from '../../../src/campaigns/campaigns.dto.js';
import type * as client from '../../../src/client/index.js';
import type { CreateLoginHookBody, RotateLoginHookBody } from '../../../src/hooks/hooks.dto.js';
import type { SendMediaBody, SendTextBody } from '../../../src/msgapp/msgapp.dto.js';
import type { SendOtpBody } from '../../../src/otp/otp.dto.js';
import type { SendSmsBody } from '../../../src/sms/sms.dto.js';
import type { CreateTemplateBody, ReplaceTemplateBody } from '../../../src/sms/templates/templates.dto.js';
import type { ChangeEndpointBody, CreateEndpointBody } from '../../../src/webhooks/endpoints/webhooks.dto.js';

/** Compiles only if each of the two types can be assigned to the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

/**
 * The service's request bodies are classes with checks. The client cannot import them, so it declares types with the
 * same fields.
 */
const same: readonly true[] = [
  true satisfies Same<keyof client.WebhookOrder, keyof CreateEndpointBody>,
  true satisfies Same<keyof client.WebhookOrder, keyof ChangeEndpointBody>,
  true satisfies Same<keyof client.LoginHookOrder, keyof CreateLoginHookBody>,
  true satisfies Same<keyof client.LoginHookRotation, keyof RotateLoginHookBody>,
  true satisfies Same<keyof client.CampaignOrder, keyof CreateCampaignBody>,
  true satisfies Same<keyof client.TextOrder, keyof SendTextBody>,
  true satisfies Same<keyof client.MediaOrder, keyof SendMediaBody>,
  true satisfies Same<keyof client.SmsOrder, keyof SendSmsBody>,
  true satisfies Same<keyof client.OtpOrder, keyof SendOtpBody>,
  true satisfies Same<keyof client.TemplateOrder, keyof CreateTemplateBody>,
  true satisfies Same<keyof client.TemplateChange, keyof ReplaceTemplateBody>,
];

test('the client’s requests have the fields of the service’s bodies', () => {
  expect(same).not.toContain(false);
});
