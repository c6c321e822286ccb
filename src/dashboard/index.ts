export { DashboardModule } from './dashboard.module.js';
export type { DashboardColors, DashboardOptions } from './dashboard-options.js';
