export { type MessagingHealthData, MessagingHealthIndicator } from './messaging-health-indicator.js';
