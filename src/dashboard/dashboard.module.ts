import { type DynamicModule, Module } from '@nestjs/common';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { DashboardPages, DashboardSettings } from './dashboard.controller.js';
import { dashboardOpenapi } from './dashboard.openapi.js';
import { dashboardFiles } from './dashboard-files.js';
import { type DashboardOptions, resolveDashboardOptions } from './dashboard-options.js';

/**
 * Mounts the dashboard: a page for users of the accounts and of the operator. It needs the API of `ManagementModule`. The page
 * itself is public and contains no data.
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
    // If the package was built without the page, the start fails with an error, not the request of the first user.
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
