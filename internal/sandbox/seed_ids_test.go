package sandbox

// IDs of seeded records.
const (
	labelBackend          = "77e50dc9-100e-472f-b0d7-602a0fd910d5"
	labelFrontend         = "2c08e614-fcc3-4cbc-b96f-9ce70d31d854"
	labelBug              = "6ae3db85-0c18-4090-bb3a-5fdb3dc2ebe4"
	labelInfra            = "1c99690f-ea10-4138-93ca-c7cc08f9aa32"
	cycleSprint14         = "9be53832-c9d7-4815-9139-20dbbe244f49"
	cycleSprint15         = "d5e85d1f-ed29-44b5-b7b6-b94d96c2a602"
	cycleQ1               = "dd55dc26-edd8-4950-95ab-a90509bb4458"
	moduleCheckout        = "53081048-fa80-4ee8-8807-c023fdc2d15b"
	typeStory             = "62ef588b-cee9-465b-a832-bdf1a3698031"
	typeTask              = "e9e031e6-9682-4a1f-ac81-c9be6b0fd408"
	workItemWeb1          = "5bb762a8-b0d0-4962-9a27-5e9203cb8756"
	linkWeb1              = "8130f42f-2098-4efe-a9ee-1ea1a86d6def"
	commentWeb1           = "f91ffc49-42e0-43f3-8195-97b7dc95ef17"
	initiativeNorth       = "089ed4fd-87f5-45e8-9c03-b24d590ab340"
	initiativeLabelGrowth = "99c451c1-7ed3-4e12-a6ac-90df4adf2e51"
	initiativeLabelRisk   = "8630365e-779b-4096-9934-9e1f1afc5f52"
	teamspacePlatform     = "9a8e6f8f-159a-4c67-8280-1e5c2024ef17"
	customerGlobex        = "caedfcea-1d7d-4f5c-9623-b8e6eb04b11d"
	customerInitech       = "aa184c6d-2f87-43e2-923f-0d78cf03c0df"
	requestDarkMode       = "f9f9766c-b6e2-4cb2-9708-9dc8d31b83b4"
	propertyTier          = "61649891-3d0c-465a-8354-168fabd5b5df"
	propertyRenewal       = "87b02205-6366-48be-ba2c-646de8e90437"
	pageWelcome           = "9d8689a7-15b0-4244-a430-21cd52e6f022"
)
