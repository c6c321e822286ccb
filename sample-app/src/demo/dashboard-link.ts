import type { INestApplicationContext } from '@nestjs/common';
import { type LinkDraft, ManagementService } from 'nestjs-messaging';

/** Makes a link to the dashboard that signs in once. @param url of the application */
export async function linkTo(app: INestApplicationContext, url: string, draft: LinkDraft): Promise<string> {
  // The user's name, which the audit log and the page show.
  const subject = [draft.account, draft.role].filter((each) => each != null).join('-');
  const { fragment } = await app.get(ManagementService, { strict: false }).link({ subject, ...draft });
  return `${url}/dashboard${fragment}`;
}
