package canonical

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber returns whether a host must be an IPv4 address because its last label is a number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.HasPrefix(last, "0x") {
		return lowerHex.hasAll(last[2:])
	}
	return decimal.hasAll(last)
}

var (
	decimal   = bytesOf(digits)
	lowerHex  = bytesOf(digits + "abcdef")
	hexDigits = bytesOf(digits + "abcdefABCDEF")
	octal     = bytesOf("01234567")
)

// ipv4 returns the dotted decimal form of one to four numbers; "" if they are not an address.
func ipv4(host string) string {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return ""
	}
	var address uint64
	for i, part := range parts {
		size := 8
		if i == len(parts)-1 {
			size = 8 * (5 - len(parts))
		}
		number, ok := ipNumber(part)
		if !ok || number>>size != 0 {
			return ""
		}
		address = address<<size | number
	}
	return dotted(address)
}

func dotted(address uint64) string {
	return fmt.Sprintf("%d.%d.%d.%d", address>>24, address>>16&255, address>>8&255, address&255)
}

func ipNumber(text string) (uint64, bool) {
	radix, allowed, number := 10, decimal, text
	if strings.HasPrefix(text, "0x") {
		radix, allowed, number = 16, hexDigits, text[2:]
		if number == "" {
			number = "0"
		}
	} else if len(text) > 1 && text[0] == '0' {
		radix, allowed, number = 8, octal, text[1:]
	}
	if number == "" || !allowed.hasAll(number) {
		return 0, false
	}
	// 40 bits are more than any part of an address.
	value, err := strconv.ParseUint(number, radix, 40)
	return value, err == nil
}

// ipv6 returns an address without brackets and without a zone.
func ipv6(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	return address, err == nil && address.Is6() && address.Zone() == ""
}

// bracketed returns the form of RFC 5952, section 4, without a dotted part, in brackets.
func bracketed(address netip.Addr) string {
	if address.Is4In6() {
		pieces := address.As16()
		return fmt.Sprintf("[::ffff:%x:%x]", binary.BigEndian.Uint16(pieces[12:]), binary.BigEndian.Uint16(pieces[14:]))
	}
	return "[" + address.String() + "]"
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// embeddedIPv4 returns the IPv4 address in an address of ::ffff:0:0/96 or 64:ff9b::/96, or "".
func embeddedIPv4(address netip.Addr) string {
	if !address.Is4In6() && !nat64.Contains(address) {
		return ""
	}
	pieces := address.As16()
	return dotted(uint64(binary.BigEndian.Uint32(pieces[12:])))
}
