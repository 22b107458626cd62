package firstseen

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
)

// A TrustedKey is a public key that verifies the signatures of manifests. It is immutable.
type TrustedKey struct {
	id  [8]byte
	key ed25519.PublicKey
}

// NewTrustedKey returns the Ed25519 key in an X.509 SubjectPublicKeyInfo in DER.
func NewTrustedKey(der []byte) (*TrustedKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, unsupported("the key must be a public Ed25519 key in X.509 form")
	}
	digest := sha256.Sum256(der)
	return &TrustedKey{[8]byte(digest[:8]), public}, nil
}

// ParseTrustedKey returns the Ed25519 key in PEM text.
func ParseTrustedKey(text []byte) (*TrustedKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, unsupported("a key must be between '-----BEGIN PUBLIC KEY-----' and '-----END PUBLIC KEY-----'")
	}
	return NewTrustedKey(block.Bytes)
}

// TrustedKeyFromFile returns the Ed25519 key in a PEM file.
func TrustedKeyFromFile(path string) (*TrustedKey, error) {
	text, err := readLimited(path, 1<<16)
	if err != nil {
		return nil, err
	}
	key, err := ParseTrustedKey(text)
	return key, within(path, err)
}

// String returns the id of the key, which manifests state.
func (k *TrustedKey) String() string { return "public key " + hex.EncodeToString(k.id[:]) }

// requireSigned returns ErrUntrusted if none of the keys signed the manifest.
func requireSigned(m *Manifest, trusted []*TrustedKey) error {
	if m.signature == nil {
		return within(m.String()+" has no signature", ErrUntrusted)
	}
	for _, key := range trusted {
		if key.id == m.signatureKey && ed25519.Verify(key.key, m.signed, m.signature) {
			return nil
		}
	}
	return within(m.String()+" has a signature of "+hex.EncodeToString(m.signatureKey[:])+
		", which is not trusted or does not fit", ErrUntrusted)
}
