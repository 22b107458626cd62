/** From bytes to events: parsing, the rules for events, and watermarks. */
package io.firstseen.events;
