import type { INestApplicationContext } from '@nestjs/common';
import { CampaignService } from 'nestjs-messaging';
import { SHOP } from './demo-script.js';
import { until } from './until.js';

const NAMES = ['Awa', 'Paul', 'Fatou', 'Issa', 'Mariam', 'Adama', 'Zoé', 'Boureima', 'Salimata'];

/** Customers of the shop with their names: the first `count` of a list. */
function customers(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    number: String(22_670_600_000 + index * 37),
    vars: { name: NAMES[index % NAMES.length] ?? '' },
  }));
}

/** How many recipients the running campaign has. At two SMS per minute they last for some hours. */
export const RUNNING_RECIPIENTS = 400;

/** Makes the campaigns of the shop. */
export class DemoCampaigns {
  private readonly campaigns: CampaignService;

  constructor(app: INestApplicationContext) {
    this.campaigns = app.get(CampaignService, { strict: false });
  }

  /** Makes a campaign that is complete at the end. */
  async completed(): Promise<void> {
    const id = await this.draft('Rentrée', 'Bonjour {name}, cahiers et cartables à -10 % cette semaine.', 40);
    await this.campaigns.start(SHOP.id, id);
    await until(async () => {
      const { status, counts } = await this.campaigns.get(SHOP.id, id);
      return status === 'completed' && counts.queued === 0;
    });
  }

  /** Makes a draft, and a campaign that goes on when the sample app starts. */
  async current(): Promise<void> {
    await this.draft('Fêtes', 'Bonjour {name}, la boutique reste ouverte le 25 décembre.', 120);
    const content = 'Bonjour {name}, nos soldes commencent demain à 8 h.';
    await this.campaigns.start(SHOP.id, await this.draft('Soldes', content, RUNNING_RECIPIENTS, 2));
  }

  private async draft(name: string, content: string, recipients: number, perMinute?: number): Promise<string> {
    const { reply } = await this.campaigns.create(SHOP.id, {
      name,
      signature: 'FASO SHOP',
      content,
      per_minute: perMinute,
    });
    await this.campaigns.importList(SHOP.id, reply.id, customers(recipients));
    return reply.id;
  }
}
