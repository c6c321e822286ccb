import { type DynamicModule, Module } from '@nestjs/common';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { DashboardPages, DashboardSettings } from './dashboard.controller.js';
import { dashboardOpenapi } from './dashboard.openapi.js';
import { dashboardFiles } from './dashboard-files.js';
import { type DashboardOptions, resolveDashboardOptions } from './dashboard-options.js';

/**
 * Mounts the dashboard: a page for the people of the accounts and of the operator. It uses the API of `ManagementModule` and
 * needs it; the page itself is public and holds nothing but itself.
 *
 * @example
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot(options), DashboardModule.forRoot({ name: 'Acme SMS' })] })
 * ```
 */
@Module({})
export class DashboardModule extends ConfiguredModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options?: DashboardOptions): DynamicModule {
    const resolved = resolveDashboardOptions(options);
    // A package that was installed without the page is told of at the start, not by the first user.
    dashboardFiles();
    return capabilityModule(
      DashboardModule,
      { path: resolved.path, controllers: true },
      {
        controllers: [dashboardOpenapi],
        providers: [
          DashboardPages,
          { provide: DashboardSettings, useValue: { options: resolved } satisfies DashboardSettings },
        ],
      },
    );
  }
}
